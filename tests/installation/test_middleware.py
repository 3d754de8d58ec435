import re

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.http import HttpRequest, HttpResponse
from django.template import RequestContext, Template
from django.test import AsyncRequestFactory, RequestFactory

from partitions_site.middleware import ContentSecurityPolicy


def page(request: HttpRequest) -> HttpResponse:
    return HttpResponse(Template("{{ csp_nonce }}").render(RequestContext(request)))


async def later_page(request: HttpRequest) -> HttpResponse:
    return await sync_to_async(page)(request)


def nonce_of(response: HttpResponse) -> str:
    return re.search(r"script-src 'self' 'nonce-([^']+)'", response["Content-Security-Policy"])[1]


class TestContentSecurityPolicy:
    def test_names_the_nonce_that_the_template_got(self, db):
        response = ContentSecurityPolicy(page)(RequestFactory().get("/"))
        assert response.content.decode() == nonce_of(response)

    def test_no_two_requests_share_a_nonce(self, db):
        policy = ContentSecurityPolicy(page)
        nonces = {nonce_of(policy(RequestFactory().get("/"))) for _ in range(20)}
        assert len(nonces) == 20

    def test_does_the_same_for_asynchronous_views(self, db):
        response = async_to_sync(ContentSecurityPolicy(later_page))(AsyncRequestFactory().get("/"))
        assert response.content.decode() == nonce_of(response)

    def test_allows_no_script_or_style_that_is_not_ours(self, db):
        policy = ContentSecurityPolicy(page)(RequestFactory().get("/"))["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "style-src 'self';" in policy
        assert "object-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy

    def test_leaves_a_policy_that_a_view_has_set(self, db):
        def strict(request: HttpRequest) -> HttpResponse:
            return HttpResponse(headers={"Content-Security-Policy": "sandbox"})

        assert (
            ContentSecurityPolicy(strict)(RequestFactory().get("/"))["Content-Security-Policy"] == "sandbox"
        )

    @pytest.mark.django_db
    def test_is_on_every_page_of_the_site(self, client):
        assert nonce_of(client.get("/admin/login/"))
